/** What is shown: the sign-in, a note while the gateway starts, or the frame with a page in it. */
import { Frame } from './frame.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { Starting } from './pages/sign-in/starting.tsx';
import { session } from './state/session.ts';
import { unreachable } from '../../src/core/values/unreachable.ts';

export function App() {
  const now = session.value;
  switch (now.kind) {
    case 'asking':
      return null;
    case 'starting':
      return <Starting says={now.says} />;
    case 'signed_out':
      return <SignInPage says={now.says} />;
    case 'signed_in':
      return <Frame who={now.who} />;
    default:
      return unreachable(now);
  }
}
