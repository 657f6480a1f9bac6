/**
 * Runs axe-core against a page in Chromium. It runs in an isolated world, where the page's content security
 * policy does not apply, so the page is checked exactly as it is served.
 */
import type { AxeResults, NodeResult } from 'axe-core';
import axe from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';

const SERIOUS_IMPACTS = new Set(['serious', 'critical']);

/** Lists serious and critical violations, one line each: the rule, its requirement, and the elements. */
export async function seriousViolations(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const contextId = await createIsolatedContext(session);
    await evaluate(session, contextId, `${axe.source}\n;undefined`);
    const run = `axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify(r))`;
    const { violations } = JSON.parse(String(await evaluate(session, contextId, run))) as AxeResults;
    return violations
      .filter(({ impact }) => SERIOUS_IMPACTS.has(impact ?? ''))
      .map(
        ({ id, impact, help, nodes }) =>
          `${id} (${impact}): ${help}: ${nodes.map(formatSelector).join(', ')}`,
      );
  } finally {
    await session.detach();
  }
}

async function createIsolatedContext(session: CDPSession): Promise<number> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  return world.executionContextId;
}

async function evaluate(session: CDPSession, contextId: number, expression: string): Promise<unknown> {
  const params = { expression, contextId, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', params);
  if (exceptionDetails !== undefined) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
  return result.value;
}

function formatSelector(node: NodeResult): string {
  return node.target.flat().join(' ');
}
