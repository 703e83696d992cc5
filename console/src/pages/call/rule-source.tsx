/** The rule that decided, as it stands in the policy file, with its line marked. */
import { Card } from '../../parts/card.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { get } from '../../state/api.ts';
import { linkTo } from '../../state/route.ts';
import { useResource } from '../../state/resource.ts';

interface PolicyFile {
  readonly files: readonly {
    readonly file: string;
    readonly lines: readonly { readonly line: number; readonly text: string | null }[];
  }[];
}

const around = 4;

export function RuleSource({ at }: { readonly at: string }) {
  const source = useResource<PolicyFile>((signal) => get('/v1/policy/file', signal), []);
  const [file = '', line = ''] = at.split(/:(?=\d+$)/);
  return (
    <Card title="Rule" extra={<a href={linkTo('policy', '', { line })}>{at}</a>}>
      <Load of={source}>
        {({ files }) => <Lines lines={linesNear(files, file, Number(line))} marked={Number(line)} />}
      </Load>
    </Card>
  );
}

type Lines = PolicyFile['files'][number]['lines'];

const linesNear = (files: PolicyFile['files'], file: string, line: number): Lines =>
  (files.find((each) => each.file === file) ?? files[0])?.lines.filter(
    (each) => each.line >= line - around && each.line <= line + around,
  ) ?? [];

function Lines({ lines, marked }: { readonly lines: Lines; readonly marked: number }) {
  if (lines.length === 0) return <p class="quiet">The file has changed since: this line is not in it any more.</p>;
  return (
    <ol class="source">
      {lines.map(({ line, text }) => (
        <li
          key={line}
          class={line === marked ? 'source-marked' : ''}
          aria-current={line === marked ? 'true' : undefined}
        >
          <span class="source-number number">{line}</span>
          {text === null ? (
            <span class="quiet">not shown: outside the policy</span>
          ) : (
            <Foreign text={text} code max={400} />
          )}
        </li>
      ))}
    </ol>
  );
}
