/**
 * Runs an embedded database until its standard input ends, for tests that kill it:
 * `node service.ts <module> <data directory>`. Prints one JSON line per event.
 */
const [module = '', dataDir = ''] = process.argv.slice(2);
const { startEmbedded } = (await import(module)) as typeof import('../../../src/store/embedded/index.ts');

function printEvent(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

// As in a terminal: Ctrl-C reaches every process of the group, and the service decides how to react.
process.on('SIGINT', () => {});
try {
  const database = await startEmbedded({ dataDir });
  printEvent({ connection: database.connection });
  for await (const _ of process.stdin);
  await database.stop();
} catch (error) {
  printEvent({ error: (error as Error).message });
}
