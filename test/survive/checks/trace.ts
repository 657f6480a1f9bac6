/** The records of the resources that problems name: answers to requests, actions, and audit rows. */
import { type IdKind, parseId } from '../../../src/kernel/ids.ts';
import type { World } from '../world/world.ts';
import type { Problem } from './problem.ts';

/** Problems that are explained, and lines about each resource. */
const PROBLEMS_MAX = 5;
const LINES_MAX = 30;
const KINDS: readonly IdKind[] = ['server', 'volume', 'snapshot'];

/** Adds the records to the first problems. */
export async function withTraces(world: World, problems: readonly Problem[]): Promise<Problem[]> {
  const explained = problems.slice(0, PROBLEMS_MAX).map(async (problem): Promise<Problem> => {
    const ids = [...new Set(problem.text.match(/\b(?:srv|vol|snap)_[a-z2-7]{26}\b/g))];
    const traces = await Promise.all(ids.map((id) => trace(world, id)));
    return { ...problem, text: [problem.text, ...traces.flat()].join('\n  ') };
  });
  return [...(await Promise.all(explained)), ...problems.slice(PROBLEMS_MAX)];
}

async function trace({ db, asker }: World, shownId: string): Promise<string[]> {
  const id = KINDS.map((kind) => parseId(kind, shownId)).find((found) => found !== undefined);
  const rows = await db.rows<{ line: string }>(
    `select line from (
       select created_at,
              concat_ws(' ', 'action', command, status, error_code, created_at, finished_at) as line
         from actions where resource_id = $1 or server_id = $1
       union all
       select created_at, concat_ws(' ', 'audit', action, result, request_id, created_at)
         from audit_events where resource = $2) as known
      order by created_at desc limit $3`,
    [id ?? null, shownId, LINES_MAX],
  );
  const answers = asker.definite.filter((line) => line.includes(shownId)).slice(-LINES_MAX);
  return [`${shownId}, newest first:`, ...rows.map(({ line }) => line), ...answers.reverse()];
}
