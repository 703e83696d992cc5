/** Waits for a condition that nothing announces. Published for authors of extensions, whose tests need it too. */
export { eventually } from '../../src/extension/proves/eventually.ts';
