classdef lftgen_uncertain
  % Stand-in for MATLAB's uncertain objects: a function of the values of its elements.  It has what the exported files
  % use, no more, and it is strict where MATLAB is.
  properties
    elements = {};
    evaluate = [];
    nominal = [];
    range = [];
    InputName = {};
    OutputName = {};
  end
  methods
    function o = lftgen_uncertain(elements, evaluate)
      o.elements = elements;
      o.evaluate = evaluate;
    end
    function r = plus(a, b)
      r = lftgen_uncertain.binary(a, b, @plus);
    end
    function r = minus(a, b)
      r = lftgen_uncertain.binary(a, b, @minus);
    end
    function r = mtimes(a, b)
      r = lftgen_uncertain.binary(a, b, @mtimes);
    end
    function r = mrdivide(a, b)
      r = lftgen_uncertain.binary(a, b, @mrdivide);
    end
    function r = horzcat(varargin)
      r = lftgen_uncertain.several(varargin, @horzcat);
    end
    function r = vertcat(varargin)
      r = lftgen_uncertain.several(varargin, @vertcat);
    end
    function r = blkdiag(varargin)
      r = lftgen_uncertain.several(varargin, @blkdiag);
    end
    function r = lft(delta, M)
      if nargin ~= 2
        error('lft: two arguments');
      end
      r = lftgen_uncertain(delta.elements, @(v) lftgen_uncertain.closed(delta.evaluate(v), M));
    end
    function r = usubs(o, varargin)
      % every element must be given, as a number or a matrix
      v = struct(varargin{:});
      missing = setdiff(o.elements, fieldnames(v));
      if ~isempty(missing)
        error('usubs: no value for %s', missing{1});
      end
      r = o.evaluate(v);
      if isa(r, 'ss') && ~isempty(o.InputName)
        r.InputName = o.InputName;
      end
      if isa(r, 'ss') && ~isempty(o.OutputName)
        r.OutputName = o.OutputName;
      end
    end
    function r = subsref(o, s)
      if strcmp(s(1).type, '()')
        rows = s(1).subs{1};
        columns = s(1).subs{2};
        r = o;
        r.evaluate = @(v) lftgen_uncertain.part(o.evaluate(v), rows, columns);
      elseif strcmp(s(1).type, '.')
        r = o.(s(1).subs);
      else
        error('not supported');
      end
      if numel(s) > 1
        r = subsref(r, s(2:end));
      end
    end
  end
  methods (Static)
    function r = binary(a, b, op)
      r = lftgen_uncertain.several({a, b}, op);
    end
    function r = several(parts, op)
      names = {};
      functions = cell(1, numel(parts));
      for k = 1:numel(parts)
        if isa(parts{k}, 'lftgen_uncertain')
          names = union(names, parts{k}.elements);
          functions{k} = parts{k}.evaluate;
        else
          constant = parts{k};
          functions{k} = @(v) constant;
        end
      end
      names = reshape(names, 1, []);
      r = lftgen_uncertain(names, @(v) lftgen_uncertain.apply(op, functions, v));
    end
    function r = apply(op, functions, v)
      values = cellfun(@(f) f(v), functions, 'UniformOutput', false);
      r = op(values{:});
    end
    function r = closed(delta, M)
      % upper loop: of a matrix by its formula, of a system by Octave's control package
      if isa(M, 'ss')
        r = lft(ss([], [], [], delta), M);
      else
        [w, z] = size(delta);
        r = M(z+1:end, w+1:end) + M(z+1:end, 1:w) * delta * ((eye(z) - M(1:z, 1:w) * delta) \ M(1:z, w+1:end));
      end
    end
    function r = part(value, rows, columns)
      r = value(rows, columns);
    end
  end
end
