/** The house rules of the console. */
import { edgesOf, filesOf, layerOf, type Rule } from './files-of.ts';
import { maskSource } from './read-source.ts';

export const isConsole = (file: string) => /^console\/src\/.*(?<!\.test)\.tsx?$/.test(file);

/** The console knows the core, whose types it does not copy, and nothing else of the gateway. */
const consoleLayer: Rule = (tree) =>
  filesOf(tree, isConsole).flatMap(([file, text]) => {
    const allowed = (to: string) => isConsole(to) || layerOf(to) === 'core' || to.endsWith('.css');
    const wrong = edgesOf(tree, file, text).filter((to) => !allowed(to));
    return wrong.map((target) => `${file}: the console may not import ${target}`);
  });

/** A page does not know another one: what two need is a part, or state. */
const pagesApart: Rule = (tree) => {
  const pageOf = (file: string) => /^console\/src\/pages\/([^/]+)\//.exec(file)?.[1] ?? null;
  return filesOf(tree, (file) => isConsole(file)).flatMap(([file, text]) => {
    const page = pageOf(file);
    if (page === null) return [];
    const wrong = edgesOf(tree, file, text).filter((to) => pageOf(to) !== null && pageOf(to) !== page);
    return wrong.map((target) => `${file}: knows another page: ${target}`);
  });
};

const markup =
  /\b(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\s*\.\s*write|DOMParser)\b/;

const noMarkup: Rule = (tree) =>
  filesOf(tree, isConsole).flatMap(([file, text]) =>
    markup.test(maskSource(text)) ? [`${file}: makes markup of text`] : [],
  );

export const consoleRules = {
  'the console imports only itself and the core': consoleLayer,
  'a page of the console does not know another one': pagesApart,
  'the console shows text, never markup': noMarkup,
} satisfies Record<string, Rule>;
