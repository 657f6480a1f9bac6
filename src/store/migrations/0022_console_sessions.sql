-- A ticket that was made in a session goes with it, as one goes with its token. An id of a row that is gone is no session's
-- any more: sessions end by being deleted, so nothing points at them.
alter table console_tickets add column session_id uuid;
