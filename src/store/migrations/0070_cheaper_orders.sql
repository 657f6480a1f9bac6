-- Raised inside a statement that also stores its response, when another request has taken the key: the statement ends,
-- nothing stays.
create function key_taken() returns int language plpgsql volatile as $$
begin
  raise exception 'another request has this Idempotency-Key' using errcode = 'SK002';
end $$;
