/** Sign-in by a key. The usual way is a link, which the page says how to get. */
import { useState } from 'preact/hooks';
import { signInWithKey } from '../../state/session.ts';

export function SignInPage({ says }: { readonly says: string | null }) {
  const [key, setKey] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    setKey('');
    void signInWithKey(key);
  };
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>Sign in to Recourse</h1>
        {says !== null && (
          <p class="sign-in-says" role="alert">
            {says}
          </p>
        )}
        <p>
          Run <code>recourse console</code> on the machine of the gateway and open the link that it prints. It works
          once.
        </p>
        <form onSubmit={submit}>
          <label for="key">Or paste the key of a viewer, an approver or an admin</label>
          <input
            id="key"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            placeholder="rk_…"
          />
          <button type="submit" class="button button-main" disabled={key.trim() === ''}>
            Sign in
          </button>
        </form>
        <p class="quiet">
          The key goes to this gateway alone and is not kept in the browser. <code>recourse agents add</code> makes one.
        </p>
      </div>
    </main>
  );
}
