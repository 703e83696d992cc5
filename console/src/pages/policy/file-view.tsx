/** One file of the policy with line numbers; beside each rule how often it decided, below a line what is wrong with it. */
import { useEffect, useRef } from 'preact/hooks';
import type { CoverageView } from '../../../../src/core/policy/look/coverage.ts';
import type { PolicyFile, ToldPlace } from '../../../../src/core/policy/look/policy-file.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { route } from '../../state/route.ts';
import { CoverageMark } from './coverage-mark.tsx';

interface FileViewProps {
  readonly file: PolicyFile['files'][number];
  readonly problems: readonly ToldPlace[];
  /** Null until it was counted. */
  readonly coverage: CoverageView | null;
}

type Line = { readonly line: number; readonly text: string } | { readonly from: number; readonly to: number };

export function FileView({ file, problems, coverage }: FileViewProps) {
  const wanted = route.value.query['at'] ?? '';
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'center' }), [wanted]);
  return (
    <section class="card" aria-label={`File ${file.file}`}>
      <header class="card-head">
        <h2>
          <Foreign text={file.file} code max={80} />
        </h2>
      </header>
      <div class="policy-file">
        <table aria-label={`Lines of ${file.file}`}>
          <tbody>
            {folded(file.lines).map((line) => {
              if ('from' in line)
                return (
                  <tr key={line.from} class="policy-gap">
                    <td class="line-number">{line.from}</td>
                    <td />
                    <td class="quiet">
                      {line.to - line.from + 1} lines of other sections are not shown: they may hold secrets
                    </td>
                  </tr>
                );
              const ref = `${file.file}:${line.line}`;
              const here = problems.filter((each) => each.file === file.file && each.line === line.line);
              const rules = coverage?.rules.filter((each) => each.ref === ref) ?? [];
              return (
                <tr
                  key={line.line}
                  class={`${ref === wanted ? 'is-wanted' : ''}${here.length > 0 ? ' has-problem' : ''}`}
                  ref={ref === wanted ? place : null}
                >
                  <td class="line-number">{line.line}</td>
                  <td class="line-mark">{rules.length > 0 && <CoverageMark rules={rules} />}</td>
                  <td class="line-text">
                    <Foreign text={line.text === '' ? ' ' : line.text} code max={400} />
                    {here.map(({ severity, message, fix }) => (
                      <p key={message} class={`line-problem line-${severity}`}>
                        <b>{severity}:</b> <Foreign text={message} max={400} /> <span class="quiet">{fix}</span>
                      </p>
                    ))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {!file.complete && <p class="quiet card-body">The file is longer; the rest is not shown.</p>}
    </section>
  );
}

/** Lines that are left out become one row. */
function folded(lines: FileViewProps['file']['lines']): readonly Line[] {
  const found: Line[] = [];
  for (const { line, text } of lines) {
    const last = found.at(-1);
    if (text !== null) found.push({ line, text });
    else if (last !== undefined && 'from' in last) found[found.length - 1] = { from: last.from, to: line };
    else found.push({ from: line, to: line });
  }
  return found;
}
