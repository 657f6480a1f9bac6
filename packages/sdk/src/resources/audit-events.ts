import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { AuditEvent, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

/** Changes of the last 90 days and their actors (SPEC "Audit event"). */
export class AuditEvents extends Resource {
  list(query: ListQuery<'audit_events.list'> = {}, options?: CallOptions): Pages<AuditEvent> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/audit/events', { params: { query: asked }, ...attempt }),
    );
  }

  get(id: string, options?: CallOptions): Promise<AuditEvent> {
    return this.transport.run(
      (api, attempt) => api.GET('/audit/events/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }
}
