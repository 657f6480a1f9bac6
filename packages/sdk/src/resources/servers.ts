import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  Console,
  CreateServer,
  DeletedServer,
  InsertIso,
  ListQuery,
  Metrics,
  RebuildServer,
  RescuedServer,
  ResizeServer,
  Server,
  SetRdns,
  StartServer,
  UpdateServer,
} from '../types.ts';
import { byId, Resource } from './resource.ts';

/**
 * Virtual and dedicated servers (SPEC "Server"). A long operation returns the server's current state
 * immediately; wait for the result with `skerry.waitForAction(server.action)`.
 */
export class Servers extends Resource {
  list(query: ListQuery<'servers.list'> = {}, options?: CallOptions): Pages<Server> {
    return this.pages(query, options, (api, params) => api.GET('/servers', { params }));
  }

  /**
   * Charges the first cycle and starts provisioning: the server is `provisioning` and has no addresses yet.
   */
  create(body: CreateServer, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.POST('/servers', { body }), { ...options, bucket: 'provision' });
  }

  get(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.GET('/servers/{id}', byId(id)), options);
  }

  /** Tags and labels are replaced as a whole. */
  update(id: string, body: UpdateServer, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.PATCH('/servers/{id}', { ...byId(id), body }), options);
  }

  /**
   * Deletes the server and all data on its disk permanently. Volumes and snapshots are kept. `refund_usd` in
   * the response came back to the balance.
   */
  delete(id: string, options?: CallOptions): Promise<DeletedServer> {
    return this.transport.run((api) => api.DELETE('/servers/{id}', byId(id)), options);
  }

  /**
   * `hard` skips the shutdown of the guest. The status stays `running`; the event `server.rebooted` marks the
   * end.
   */
  reboot(id: string, query: { readonly hard?: boolean } = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run(
      (api) => api.POST('/servers/{id}/reboot', { params: { path: { id }, query } }),
      options,
    );
  }

  /** Reinstalls an image and erases the disk. Addresses stay the same. */
  rebuild(id: string, body: RebuildServer = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.POST('/servers/{id}/rebuild', { ...byId(id), body }), options);
  }

  /**
   * Restarts into the rescue system. `rescue` in the response contains its password, which is shown only
   * once.
   */
  rescue(id: string, options?: CallOptions): Promise<RescuedServer> {
    return this.transport.run((api) => api.POST('/servers/{id}/rescue', byId(id)), options);
  }

  stop(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.POST('/servers/{id}/stop', byId(id)), options);
  }

  /** Powers on a stopped server. A server that was not renewed is charged another cycle. */
  start(id: string, body: StartServer = {}, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.POST('/servers/{id}/start', { ...byId(id), body }), options);
  }

  /**
   * Changes the plan (beta). The end of the cycle stays, and the rest of it is charged or refunded. A running
   * server must be allowed to `restart`. The plan of the response is the new one; if the resize fails, the
   * previous plan and the money come back.
   */
  resize(id: string, body: ResizeServer, options?: CallOptions): Promise<Server> {
    const params = { path: { id }, header: { 'X-Service-Beta': 'true' } } as const;
    return this.transport.run((api) => api.POST('/servers/{id}/resize', { params, body }), options);
  }

  /**
   * Puts an image that you uploaded into the drive of the server, also while it runs. To boot it, update
   * `boot` to `iso`, and reboot when that action has ended.
   */
  insertIso(id: string, body: InsertIso, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.PUT('/servers/{id}/iso', { ...byId(id), body }), options);
  }

  /** Empties the drive. The server boots its disk from then on. */
  ejectIso(id: string, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.DELETE('/servers/{id}/iso', byId(id)), options);
  }

  /** Restores a snapshot and erases the disk. */
  restore(id: string, body: { readonly snapshot: string }, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.POST('/servers/{id}/restore', { ...byId(id), body }), options);
  }

  /** Returns the URL of a console for one visit within five minutes. With a `read` token, it is view-only. */
  console(id: string, options?: CallOptions): Promise<Console> {
    return this.transport.run((api) => api.GET('/servers/{id}/console', byId(id)), options);
  }

  /**
   * Returns hourly values of the last 30 days. `step_s: 300` returns those by five minutes of 48 hours, 60
   * those by the minute of 6 hours.
   */
  metrics(
    id: string,
    { step_s, ...options }: CallOptions & { readonly step_s?: Metrics['step_s'] } = {},
  ): Promise<Metrics> {
    const params = { path: { id }, query: step_s === undefined ? {} : { step_s } };
    return this.transport.run((api) => api.GET('/servers/{id}/metrics', { params }), options);
  }

  /** Sets the host names of the addresses; null removes one. */
  setRdns(id: string, body: SetRdns, options?: CallOptions): Promise<Server> {
    return this.transport.run((api) => api.POST('/servers/{id}/rdns', { ...byId(id), body }), options);
  }
}
