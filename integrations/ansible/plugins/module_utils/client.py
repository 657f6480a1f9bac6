# SPDX-License-Identifier: Apache-2.0
"""Sends requests to the Skerry API and retries those that a retry may help.

Retries are safe: every POST carries an idempotency key that stays the same for all attempts, and the other
methods are idempotent.
"""

import json
import random
import re
import time
import uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

from ansible.module_utils.urls import open_url

TIMEOUT_S = 60
MAX_RETRIES = 3
FIRST_BACKOFF_S = 0.5
MAX_BACKOFF_S = 30
# The total wait of one call for the rate limit.
RATE_LIMIT_WAIT_S = 300
PAGE_SIZE = 100
# Far above every quota: a decision made from an incomplete list would be wrong.
PAGES_MAX = 100
RESPONSE_MAX_BYTES = 16 * 1024 * 1024

ID = re.compile(r'[A-Za-z0-9_-]+')
PRIVATE_HOST = re.compile(r'localhost|.+\.localhost|127(\.\d+){3}|::1|.+\.onion')


class Failure(Exception):
    """A refusal with a message for the user."""

    def details(self):
        """Returns more fields of the module's result."""
        return {}


class ConnectionFailure(Failure):
    """The service was unreachable, or something else responded."""


class ApiError(Failure):
    """An error response of the API. `retry_after` is the header of that name."""

    def __init__(self, status, body, retry_after):
        error = body.get('error') if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {}
        items = error.get('errors')
        self.status = status
        self.code = error.get('code')
        self.errors = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        self.request_id = error.get('request_id')
        self._retry_after = retry_after
        super().__init__(self._describe(str(error.get('message', ''))))

    def _describe(self, message):
        if self.code is None:
            return 'the response with status %d is not from the Skerry API; check api_url' % self.status
        # Many messages of the service consist of a sentence for each field.
        fields = [item for item in self.errors if item.get('field')]
        unnamed = [item for item in fields
                   if not re.search(r'(^|\. )%s ' % re.escape(item['field']), message)]
        named = ''.join(' %s: %s.' % (item['field'], item.get('issue')) for item in unnamed)
        return '%s%s (%d %s, %s)' % (message, named, self.status, self.code, self.request_id)

    @property
    def retry_after_s(self):
        """The delay that the service asks for: in a header for the rate limit, else in an item."""
        if self.status == 429:
            return max(1, int(self._retry_after)) if re.fullmatch(r'\d{1,6}', self._retry_after or '') else 1
        seconds = [item.get('retry_after_s') for item in self.errors]
        return max([number for number in seconds if isinstance(number, (int, float))] or [0])

    def details(self):
        return {
            'error': {
                'status': self.status,
                'code': self.code,
                'errors': self.errors,
                'request_id': self.request_id,
            }
        }


class Client:
    """One method for each HTTP method. Paths are relative to /v1, and IDs in them come from `path`."""

    def __init__(self, api_url, token, ca_path=None):
        self.url = parse_address(api_url)
        # Never show the value: a secret may have been passed by mistake, or a part of it.
        if not re.fullmatch(r'[\x21-\x7e]+', token or ''):
            raise Failure('api_token is not a valid API token')
        self._token = token
        self._ca_path = ca_path

    def get(self, path, query=None):
        return self._run('GET', path, query=query)

    def post(self, path, body=None, is_beta=False):
        return self._run('POST', path, body=body or {}, extra={'X-Service-Beta': 'true'} if is_beta else {})

    def put(self, path, body):
        return self._run('PUT', path, body=body)

    def patch(self, path, body):
        return self._run('PATCH', path, body=body)

    def delete(self, path):
        return self._run('DELETE', path)

    def find(self, path):
        """Returns a resource, or None if it does not exist."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, path, filters=None):
        """Returns all items of a list."""
        query = {'page_size': PAGE_SIZE}
        query.update(('filter[%s]' % name, value) for name, value in (filters or {}).items())
        items = []
        for _page in range(PAGES_MAX):
            page = self.get(path, query)
            if not isinstance(page.get('data'), list):
                raise ConnectionFailure('the response of %s is not a list' % self.url)
            items.extend(page['data'])
            query['cursor'] = page.get('next_cursor')
            if not page.get('has_more') or query['cursor'] is None:
                return items
        raise Failure('%s has more than %d items, which is too many to compare' % (path, len(items)))

    def _run(self, method, path, query=None, body=None, extra=None):
        headers = {'Accept': 'application/json', 'Authorization': 'Bearer %s' % self._token}
        headers.update(extra or {})
        if body is not None:
            headers['Content-Type'] = 'application/json'
        if method == 'POST':
            headers['Idempotency-Key'] = str(uuid.uuid4())
        url = '%s%s%s' % (self.url, path, '?%s' % urlencode(query) if query else '')
        retries = Retries()
        while True:
            try:
                return self._attempt(method, url, headers, body)
            except (ApiError, ConnectionFailure) as error:
                # An earlier attempt deleted it, and its response was lost.
                if method == 'DELETE' and getattr(error, 'status', None) == 404 and retries.may_be_done:
                    return None
                pause_s = retries.next_pause(error)
                if pause_s is None:
                    raise explain(error, method, retries) from error
                time.sleep(pause_s)

    def _attempt(self, method, url, headers, body):
        try:
            response = open_url(
                url,
                method=method,
                headers=headers,
                data=None if body is None else json.dumps(body),
                timeout=TIMEOUT_S,
                ca_path=self._ca_path,
                http_agent='skerry-ansible',
                # A redirect would send the token elsewhere, and credentials from netrc would replace it.
                follow_redirects='none',
                use_netrc=False,
            )
            status, text = response.getcode(), response.read(RESPONSE_MAX_BYTES + 1)
        except HTTPError as error:
            raise read_error(error) from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, 'reason', None) or error
            raise ConnectionFailure('cannot reach %s: %s' % (self.url, reason)) from error
        if status == 204:
            return None
        parsed = parse_json(text)
        if not isinstance(parsed, dict):
            raise ConnectionFailure('the response of %s is incomplete' % self.url)
        return parsed


class Retries:
    """The state of a call across its attempts."""

    def __init__(self):
        self.failures = 0
        self.deadline = time.monotonic() + RATE_LIMIT_WAIT_S
        # Whether an attempt may have changed something although it failed.
        self.may_be_done = False

    def next_pause(self, error):
        """Returns the time to wait before the next attempt; None: do not retry."""
        status = getattr(error, 'status', None)
        requested_s = getattr(error, 'retry_after_s', 0)
        if status == 429:
            # A request that was refused for the rate was not carried out.
            return requested_s if time.monotonic() + requested_s <= self.deadline else None
        if status is not None and status < 500:
            return None
        self.may_be_done = True
        if self.failures >= MAX_RETRIES or requested_s > MAX_BACKOFF_S:
            return None
        pause_s = min(FIRST_BACKOFF_S * 2**self.failures, MAX_BACKOFF_S)
        self.failures += 1
        return max(requested_s, pause_s * (0.5 + random.random() / 2))


def explain(error, method, retries):
    """Returns the error, and says so if the change may have been made."""
    if method != 'GET' and retries.may_be_done and isinstance(error, ConnectionFailure):
        return ConnectionFailure('%s; the request may have been carried out' % error)
    return error


def read_error(error):
    """Returns the error response as an exception."""
    try:
        text = error.read(RESPONSE_MAX_BYTES)
    except (OSError, HTTPException):
        text = b''
    return ApiError(error.code, parse_json(text), error.headers.get('Retry-After'))


def parse_json(text):
    """Returns the value; None if the text is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def parse_address(text):
    """Returns the address of the API, which ends in /v1, as the CLI reads it.

    Adds a scheme if there is none: https, and http for loopback and Tor, which need no encryption.
    """
    has_scheme = re.match(r'^[a-z][a-z0-9+.-]*://', text, re.IGNORECASE)
    try:
        url = urlsplit(text if has_scheme else 'https://%s' % text)
        host = url.hostname
    except ValueError:
        host = None
    if not host or url.scheme not in ('http', 'https') or url.query or url.fragment or '@' in url.netloc:
        raise Failure('api_url is not a valid host address; use a URL such as https://skerry.example')
    scheme = 'http' if not has_scheme and PRIVATE_HOST.fullmatch(host) else url.scheme
    return '%s://%s%s/v1' % (scheme, url.netloc, re.sub(r'/v1$', '', url.path.rstrip('/')))


def path(start, *ids):
    """Returns a path with IDs in it. An ID such as `..` would address something else."""
    for one in ids:
        if not ID.fullmatch(one):
            raise Failure('"%s" is not a valid ID' % one)
    return '/'.join((start,) + ids)
