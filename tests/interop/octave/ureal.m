function r = ureal(name, nominal, kind, range)
  % stand-in: an uncertain real parameter
  lftgen_element_name(name);
  if ~strcmp(kind, 'Range') || numel(range) ~= 2 || ~(range(1) < nominal && nominal < range(2))
    error('ureal %s: the nominal must lie inside the range', name);
  end
  r = lftgen_uncertain({name}, @(v) lftgen_value(v, name, [1 1], true));
  r.nominal = nominal;
  r.range = range;
end
