function r = lftgen_value(v, name, sizes, is_real)
  % value of an element
  r = v.(name);
  if ~isequal(size(r), reshape(sizes, 1, [])) || (is_real && ~isreal(r))
    error('%s: wrong value', name);
  end
end
