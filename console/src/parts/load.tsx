/** Shows a resource: loading, a problem, or its value; a value that was there stays while it is loaded again. */
import type { ComponentChildren } from 'preact';
import type { Resource } from '../state/resource.ts';
import { Loading, ProblemNote } from './notice.tsx';

interface LoadProps<Value> {
  readonly of: Resource<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

export function Load<Value>({ of, children }: LoadProps<Value>) {
  const { value, problem, loading } = of.state.value;
  const again = () => void of.load();
  if (value === null) {
    if (problem !== null) return <ProblemNote problem={problem} again={again} />;
    return loading ? <Loading /> : null;
  }
  return (
    <>
      {problem !== null && <ProblemNote problem={problem} again={again} />}
      {children(value)}
    </>
  );
}
