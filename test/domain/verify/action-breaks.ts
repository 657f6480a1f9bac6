/** SQL that violates each invariant of actions, like a bug might. */
export const ACTION_BREAKS: Record<string, readonly string[]> = {
  'running actions have work': [
    `update actions set status = 'running', finished_at = null where command = 'server.create'`,
  ],
  'work has a running action': [
    `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       select gen_random_uuid(), id, 'stop', 'shut_down', now(), now(), now() from servers
       on conflict do nothing`,
    `update snapshots set status = 'creating'`,
  ],
  'ended actions have one event': [
    `delete from events where type = 'action.success'`,
    `update actions set status = 'error', error_code = 'timeout', error_message = 'It took too long.'
      where command = 'server.create'`,
  ],
  'actions are complete': [
    `update actions set progress = 99 where status = 'success'`,
    `update actions set step_times = step_times[1:1] where command = 'server.create'`,
  ],
};
