/** The page Sessions: the list of workflow sessions, or one of them with its machine. */
import { PageHead } from '../../parts/page-head.tsx';
import type { PageProps } from '../page-props.ts';
import { SessionList } from './session-list.tsx';
import { SessionView } from './session-view.tsx';
import './sessions.css';

export function SessionsPage({ id }: PageProps) {
  if (id !== '') return <SessionView key={id} id={id} />;
  return (
    <>
      <PageHead title="Sessions" says="Workflows that agents go through, one session for each piece of work." />
      <SessionList />
    </>
  );
}
