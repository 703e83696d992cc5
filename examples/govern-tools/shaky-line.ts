/** A line to the daemon that is cut once, at the worst moment: an answer with a result is on its way back. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function openShakyLine(to: URL) {
  const sockets = new Set<Socket>();
  const state = { cuts: 0 };
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      if (state.cuts > 0 || !chunk.includes('"result"')) return near.write(chunk);
      state.cuts += 1;
      near.destroy();
      return far.destroy();
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => state.cuts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
