/** A service with several processes, and a customer with an API token and a balance. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { topUp } from '../support/world.ts';

export interface ProcessWorld {
  readonly serving: SkerrydProcess;
  /** Returns the process ids of the workers that serve requests. */
  children(): number[];
  customer(balanceUsd: number): Promise<{ session: SessionClient; api: V1Client; token: string }>;
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function startProcesses(
  count: number,
  settings: Readonly<Record<string, string>>,
): Promise<ProcessWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-processes-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const fixed = {
    SKERRY_DATA_DIR: folder,
    SKERRY_LOG_LEVEL: 'error',
    SKERRY_SIM_BLOCK_S: '0',
    SKERRY_SIM_INSTALL_S: '0',
  };
  const serving = await startSkerryd({ ...fixed, ...settings }, ['--processes', String(count)]);
  const sandbox = async (name: string, body: object = {}) => {
    const response = await fetch(`${serving.url}/sandbox/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`/sandbox/${name}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const settle = async () => void (await sandbox('settle'));
  return {
    serving,
    settle,
    children: () => {
      const listed = spawnSync('pgrep', ['-P', String(serving.pid), '-f', 'main.ts']).stdout.toString();
      return listed.trim().split('\n').filter(Boolean).map(Number);
    },
    customer: async (balanceUsd) => {
      const session = SessionClient.forUrl(serving.url);
      await session.signUp();
      if (balanceUsd > 0) await topUp({ sandbox, settle }, session, balanceUsd);
      const token = await createApiToken(session);
      return { session, token, api: V1Client.forUrl(serving.url, token) };
    },
    close: async () => {
      await serving.stop();
      killLeftovers();
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
    },
  };
}
