/**
 * axe-core looks at a page in Chromium. It runs in a world of its own beside the page's scripts, where the page's content
 * policy does not apply, so that the page is looked at as it is served.
 */
import type { AxeResults, NodeResult } from 'axe-core';
import axe from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';

const GRAVE = new Set(['serious', 'critical']);

/** What is serious or critical, a line each: the rule, what it asks for, where. */
export async function graveFaults(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const contextId = await separateWorld(session);
    await evaluate(session, contextId, `${axe.source}\n;undefined`);
    const run = `axe.run(document, { resultTypes: ['violations'] }).then((found) => JSON.stringify(found))`;
    const { violations } = JSON.parse(String(await evaluate(session, contextId, run))) as AxeResults;
    return violations
      .filter((fault) => GRAVE.has(fault.impact ?? ''))
      .map((fault) => `${fault.id} (${fault.impact}): ${fault.help}: ${fault.nodes.map(place).join(', ')}`);
  } finally {
    await session.detach();
  }
}

async function separateWorld(session: CDPSession): Promise<number> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  return world.executionContextId;
}

async function evaluate(session: CDPSession, contextId: number, expression: string): Promise<unknown> {
  const given = { expression, contextId, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', given);
  if (exceptionDetails !== undefined) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
  return result.value;
}

function place(node: NodeResult): string {
  return node.target.flat().join(' ');
}
