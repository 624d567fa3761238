function lftgen_element_name(name)
  % what MATLAB demands of the name of an uncertain element
  if ~isvarname(name) || numel(name) > 63 || any(double(name) > 127)
    error('%s is no name of an element', name);
  end
end
