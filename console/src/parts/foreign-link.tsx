/** A link to a page about something from outside; its text is shown as it is. */
import { Foreign } from './foreign.tsx';

export function ForeignLink({
  href,
  text,
  max = 60,
}: {
  readonly href: string;
  readonly text: string;
  readonly max?: number;
}) {
  return (
    <a href={href}>
      <Foreign text={text} code max={max} />
    </a>
  );
}
