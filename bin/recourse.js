#!/usr/bin/env node
// The command `recourse`. Plain JavaScript that an old Node can read, so that it can say what it needs. In a clone
// the sources run as they are; a package has only what was built from them. Help loads nothing of the gateway.
const required = 24;

/** The sources first: a clone may have an old build beside them. */
const load = (name) =>
  import(`../src/${name}.ts`).catch((error) => {
    const absent = error.code === 'ERR_MODULE_NOT_FOUND' && String(error.url).endsWith(`/src/${name}.ts`);
    // Under node_modules Node does not run TypeScript, even where somebody put it.
    if (absent || error.code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') return import(`../dist/${name}.js`);
    throw error;
  });

const start = async () => {
  const { handleArguments, processTerminal } = await load('doors/cli/handle-arguments');
  const terminal = processTerminal();
  const answer = handleArguments(process.argv.slice(2), terminal);
  if (typeof answer === 'number') return answer;
  const { startCli } = await load('main-cli');
  return startCli(answer, terminal);
};

/** What nobody else caught: a broken installation, or a bug. The exit code is that of src/doors/cli/exit-codes.ts. */
const fail = (error) => {
  const [reason] = String((error && error.message) || error).split('\n');
  const id = `err_${Date.now().toString(36)}`;
  process.stderr.write(
    `recourse: this is a bug or a broken installation, ${id}: ${reason}; try to install it again.\n`,
  );
  if (process.env.RECOURSE_DEBUG === '1') process.stderr.write(`${error && error.stack}\n`);
  return 4;
};

if (Number(process.versions.node.split('.')[0]) < required) {
  const inClone = `in a clone run \`npm install\`, which brings Node ${required}, and \`npm start\``;
  const sentence = `recourse needs Node ${required} or newer and this is ${process.version}: install it; ${inClone}.`;
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
} else {
  process.on('uncaughtException', (error) => process.exit(fail(error)));
  start()
    .catch(fail)
    .then((code) => {
      process.exitCode = code;
    });
}
