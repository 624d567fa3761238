function r = umat(M)
  % stand-in: a constant matrix among the uncertain ones
  r = lftgen_uncertain({}, @(v) M);
end
