/** The operator's windows and policies as this process holds them: read again whenever their version has moved. */
import type { Service } from '../domain/context.ts';
import { loadRules, type Rules, rulesVersion } from '../domain/rules/rules.ts';

export class CurrentRules {
  readonly #service: Service;
  #rules: Rules | null = null;

  constructor(service: Service) {
    this.#service = service;
  }

  /** `version` is the database's, as a caller has just read it; read here when it has not. */
  async read(version?: bigint): Promise<Rules> {
    const now = version ?? (await rulesVersion(this.#service));
    if (this.#rules?.version !== now) this.#rules = await loadRules(this.#service);
    return this.#rules;
  }
}
