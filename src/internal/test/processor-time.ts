/** Milliseconds of processor time that `work` takes: the minimum of several runs, because other processes and garbage collection disturb some. */
export function processorTime(work: () => unknown, tries = 7): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < tries; attempt++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return Math.max(least, 0.001);
}
