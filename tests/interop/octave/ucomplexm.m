function r = ucomplexm(name, nominal, left, WL, right, WR)
  % stand-in: an uncertain complex matrix
  lftgen_element_name(name);
  if ~strcmp(left, 'WL') || ~strcmp(right, 'WR') || size(WL, 1) ~= size(nominal, 1) || size(WR, 2) ~= size(nominal, 2)
    error('ucomplexm %s: weights', name);
  end
  r = lftgen_uncertain({name}, @(v) lftgen_value(v, name, size(nominal), false));
  r.nominal = nominal;
  r.range = [0 WL(1, 1)];
end
