function r = ultidyn(name, sizes, kind, bound)
  % stand-in: uncertain dynamics, of which a constant complex gain is one case
  lftgen_element_name(name);
  if ~strcmp(kind, 'Bound') || ~(bound > 0) || numel(sizes) ~= 2
    error('ultidyn %s: bound and sizes', name);
  end
  r = lftgen_uncertain({name}, @(v) lftgen_value(v, name, sizes, false));
  r.nominal = zeros(sizes);
  r.range = [0 bound];
end
