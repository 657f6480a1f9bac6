/** The same for many, a few at a time. */
const AT_ONCE = 16;

export async function eachOf(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const left = [...ids].reverse();
  const worker = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await work(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
