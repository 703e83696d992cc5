/** Shown while the gateway is not ready, or does not answer. It is asked again every second. */
export function Starting({ says }: { readonly says: string }) {
  return (
    <main class="sign-in">
      <div class="card sign-in-card" role="status">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>Waiting for the gateway</h1>
        <p>{says}</p>
        <p class="quiet">This page goes on by itself.</p>
      </div>
    </main>
  );
}
