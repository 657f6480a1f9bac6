import type { CDPSession, Page } from 'playwright-core';

export interface Authenticator {
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
}

/** Plugs in Chromium's own authenticator, in place of a phone or a security key. */
export async function plugInAuthenticator(page: Page): Promise<Authenticator> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return { cdp, authenticatorId };
}
