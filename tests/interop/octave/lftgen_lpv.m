function lftgen_lpv(folder, name)
  % Calls an exported data function at the points of <name>_points.mat (columns: p, then q).
  given = load(fullfile(folder, [name '_points.mat']));
  out.names = feval(name);
  k = numel(out.names.parameters);
  out.results = cell(1, size(given.points, 2));
  for i = 1:size(given.points, 2)
    p = given.points(1:k, i);
    q = given.points(k+1:end, i);
    [r.A, r.B, r.C, r.D, r.E, r.dx0, r.x0, r.u0, r.y0, r.Delays] = feval(name, 0, p, q);
    out.results{i} = r;
  end
  [A0, B0] = feval(name, 0, given.points(1:k, 1));
  out.A_nominal_q = A0;
  save('-v6', fullfile(folder, [name '_result.mat']), '-struct', 'out');
  printf('DONE %s\n', name);
end
