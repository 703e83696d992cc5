/** How long the simulation may take, and which seeds it runs. All of it comes from the environment, and is printed. */

const { env } = process;

/** For the whole folder; each file takes its share. */
const totalSeconds = Number(env['RECOURSE_SIMULATION_SECONDS'] ?? 20);
const soak = env['RECOURSE_SOAK'] === '1';
const soakSeeds = 20_000;

/** One seed to replay, and nothing else. */
export const onlySeed: number | null = env['RECOURSE_SEED'] === undefined ? null : Number(env['RECOURSE_SEED']);

const day = Math.floor(Date.now() / 86_400_000);

/** Other seeds every day, the same ones all day long. */
export const firstSeed: number = Number(env['RECOURSE_FIRST_SEED'] ?? (day % 4_000) * 100_000 + 1);

/** True for as long as the share of the time, or in a soak the full count, is not used up. */
export function createBudget(share: number, seeds = soakSeeds): (done: number) => boolean {
  const until = performance.now() + totalSeconds * share * 1_000;
  return (done) => (soak ? done < seeds : performance.now() < until);
}
