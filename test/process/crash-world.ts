/** Helpers for tests that kill processes. */
import assert from 'node:assert/strict';

export function serviceEnvironment(dataDir: string): Record<string, string> {
  return {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_LOG_LEVEL: 'warn',
    SKERRY_SIM_BLOCK_S: '0',
    SKERRY_SIM_INSTALL_S: '0.3',
    // Each connection costs every start a process.
    SKERRY_DB_POOL: '4',
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the body and fail if it is missing.
export async function callSandbox(url: string, name: string, body: object = {}): Promise<any> {
  const response = await fetch(`${url}/sandbox/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}
