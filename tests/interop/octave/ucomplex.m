function r = ucomplex(name, nominal, kind, radius)
  % stand-in: an uncertain complex parameter
  lftgen_element_name(name);
  if ~strcmp(kind, 'Radius') || ~(radius > 0)
    error('ucomplex %s: radius', name);
  end
  r = lftgen_uncertain({name}, @(v) lftgen_value(v, name, [1 1], false));
  r.nominal = nominal;
  r.range = [0 radius];
end
