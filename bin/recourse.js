#!/usr/bin/env node
// The command `recourse`. Plain JavaScript that an old Node can read, so that it can say what it needs. In a clone the
// sources are there and run as they are; a package has only what was built from them. Help loads nothing of the gateway.
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
  const { answerAtOnce, processTerminal } = await load('doors/cli/answer-at-once');
  const terminal = processTerminal();
  const answer = answerAtOnce(process.argv.slice(2), terminal);
  if (typeof answer === 'number') return answer;
  const { startCli } = await load('main-cli');
  return startCli(answer, terminal);
};

const fail = (error) => {
  process.stderr.write(`recourse: it could not be loaded; install it again. ${String(error.message).split('\n')[0]}\n`);
  if (process.env.RECOURSE_DEBUG === '1') process.stderr.write(`${error.stack}\n`);
  return 4;
};

if (Number(process.versions.node.split('.')[0]) < required) {
  process.stderr.write(
    `recourse needs Node ${required} or newer and this is ${process.version}: install a newer Node, or in a clone run \`npm install\` (it brings Node ${required}) and then \`npm start\`.\n`,
  );
  process.exitCode = 1;
} else {
  start()
    .catch(fail)
    .then((code) => {
      process.exitCode = code;
    });
}
