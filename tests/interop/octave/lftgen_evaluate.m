function lftgen_evaluate(folder, name)
  % Runs an exported function at the points of <name>_points.mat and writes what comes out to <name>_result.mat.
  given = load(fullfile(folder, [name '_points.mat']));
  [P, info] = feval(name);
  results = cell(1, numel(given.points));
  for k = 1:numel(given.points)
    point = given.points{k};
    given_values = {};
    for i = 1:size(info.names, 1)
      element = info.names{i, 2};
      if isa(info.elements.(element), 'lftgen_uncertain') && ismember(element, P.elements)
        value = info.coordinate.(element)(point.(element));
        given_values = [given_values, {element, value}];
      end
    end
    entries = lftgen_entries(P, info, point);
    value = usubs(P, given_values{:}, entries{:});
    if isa(value, 'ss')
      [A, B, C, D] = ssdata(value);
      results{k} = [A B; C D];
    else
      results{k} = value;
    end
  end
  out.results = results;
  out.back = cell(1, 0);
  for i = 1:size(info.names, 1)
    element = info.names{i, 2};
    x = given.points{1}.(element);
    out.back{i} = info.value.(element)(info.coordinate.(element)(x)) - x;
  end
  out.names = info.names;
  out.states = info.states;
  out.inputs = info.inputs;
  out.outputs = info.outputs;
  out.rate = info.rate;
  if isa(value, 'ss')
    out.system_states = value.StateName;
    out.system_inputs = value.InputName;
    out.system_outputs = value.OutputName;
  end
  out.beside = load(fullfile(folder, [name '.mat']));
  elements = fieldnames(info.elements);
  out.ranges = struct();
  for i = 1:numel(elements)
    e = info.elements.(elements{i});
    if isa(e, 'lftgen_uncertain')
      out.ranges.(elements{i}) = e.range;
      out.nominals.(elements{i}) = e.nominal;
    end
  end
  save('-v6', fullfile(folder, [name '_result.mat']), '-struct', 'out');
  printf('DONE %s\n', name);
end

function given_values = lftgen_entries(P, info, point)
  % full real blocks are written entry by entry
  given_values = {};
  for i = 1:size(info.names, 1)
    value = point.(info.names{i, 2});
    e = info.elements.(info.names{i, 2});
    if ~isa(e, 'lftgen_uncertain') || numel(e.elements) < 2
      continue;
    end
    flat = reshape(value.', 1, []);
    for k = 1:numel(flat)
      [r, c] = ind2sub(fliplr(size(value)), k);
      given_values = [given_values, {sprintf('%s_%d_%d', info.names{i, 2}, c, r), flat(k)}];
    end
  end
end
