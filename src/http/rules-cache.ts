/** The operator's windows and policies as this process holds them: read again whenever their version has moved. */
import type { Service } from '../domain/context.ts';
import { loadRules, type Rules, readCurrentRulesVersion } from '../domain/rules/rules.ts';

export class RulesCache {
  readonly #service: Service;
  #rules: Rules | null = null;

  constructor(service: Service) {
    this.#service = service;
  }

  /** `version` is the database's, as a caller has just read it; read here when it has not. */
  async read(version?: bigint): Promise<Rules> {
    const currentVersion = version ?? (await readCurrentRulesVersion(this.#service));
    if (this.#rules?.version !== currentVersion) this.#rules = await loadRules(this.#service);
    return this.#rules;
  }
}
