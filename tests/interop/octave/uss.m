function r = uss(G)
  % stand-in: a constant system among the uncertain ones
  if ~isa(G, 'ss')
    error('uss: a system');
  end
  r = lftgen_uncertain({}, @(v) G);
end
