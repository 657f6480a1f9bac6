/** The operator's desk in a test: runs commands as typed and keeps what they said. */
import type { OperatorDoors } from '../../src/operator/context.ts';
import { runOperator } from '../../src/operator/run.ts';
import { type Ground, openGround } from '../domain/ground.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Desk {
  readonly ground: Ground;
  /** Runs a command; `answer` is what is typed when it asks, null when nobody is there. */
  run(argv: readonly string[], answer?: boolean | null): Promise<Said>;
}

export async function openDesk(): Promise<Desk> {
  const ground = await openGround();
  const doors: OperatorDoors = {
    settings: () => [{ name: 'SKERRY_PORT', value: '8080', source: 'default', about: 'port to listen on' }],
    database: async () => ground.db,
    service: async () => ({ service: ground.service, register: ground.register, coins: null }),
  };
  return {
    ground,
    run: async (argv, answer = null) => {
      const out: string[] = [];
      const err: string[] = [];
      const ask = answer === null ? null : async () => answer;
      const terminal = {
        out: (line: string) => void out.push(line),
        err: (line: string) => void err.push(line),
        ask,
      };
      const code = await runOperator(argv, doors, undefined, terminal);
      return { code, out: out.join('\n'), err: err.join('\n') };
    },
  };
}
