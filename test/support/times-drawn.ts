/**
 * How often is a property drawn? `npm run check` is the loop of a minute and draws as often as the coverage that a test
 * asserts needs; everything else draws all of it, also a test that somebody runs by itself.
 */
export const timesDrawn = (all: number, inALoop: number): number =>
  process.env['RECOURSE_QUICK'] === '1' ? Math.min(all, inALoop) : all;
