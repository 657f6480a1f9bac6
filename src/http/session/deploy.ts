/** POST /deploy-api.php: orders a server and pays for its cycle. */
import type { CustomerActor } from '../../domain/context.ts';
import { deploySession, type SessionDeployment } from '../../domain/servers/deploy/deploy-session.ts';
import { Failure } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { TOPUP_HINTS } from '../../spec/error-messages.ts';
import { serverPath, topupPath } from '../../spec/paths.ts';
import type { PostEndpoint } from '../admission/forms.ts';
import { field, lookupField } from '../form.ts';
import { respondOnce } from './pipeline.ts';

export const deployEndpoint: PostEndpoint = {
  path: '/deploy-api.php',
  protected: true,
  operations: {
    audit: 'server.create',
    rest: 'servers.create',
    run: async (call) => {
      const { edge, form } = call;
      const order = {
        product: field(form, 'product'),
        plan: lookupField(form, 'plan'),
        region: lookupField(form, 'region'),
        os: lookupField(form, 'os'),
        billing: field(form, 'billing'),
        rootPassword: field(form, 'root_password'),
      };
      const deploy = (actor: CustomerActor) => deploySession(edge.service, actor, order).catch(withTopupPath);
      return await respondOnce(call, deploy, toResponse);
    },
  },
};

function toResponse(deployment: SessionDeployment): object {
  return {
    ok: true,
    server_id: Number(deployment.serverNo),
    monthly_eur: centsToUsd(deployment.monthlyEurCents),
    total_eur: centsToUsd(deployment.totalEurCents),
    redirect: serverPath(deployment.serverNo),
  };
}

/** Adds the top-up page for the missing amount to an insufficient balance error. */
function withTopupPath(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'insufficient_balance') throw error;
  const { deficit } = error.extras;
  if (typeof deficit !== 'number') throw error;
  const extras = { ...error.extras, topup: topupPath(deficit.toFixed(2)) };
  throw new Failure(error.code, extras, `${error.message} ${TOPUP_HINTS.session}`);
}
