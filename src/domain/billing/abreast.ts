/** How many customers are worked on at once: each has a transaction of its own. */
const ABREAST = 4;

/** Works on each, several at once; returns the sum of what `work` returned. The first failure is thrown when all have ended. */
export async function abreast<T>(items: readonly T[], work: (item: T) => Promise<number>): Promise<number> {
  const left = [...items];
  let did = 0;
  async function worker(): Promise<void> {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      // Not `+= await`: that would add to what was there before the wait.
      const count = await work(item);
      did += count;
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: ABREAST }, worker));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return did;
}
