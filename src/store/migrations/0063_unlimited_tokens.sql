-- A change of an unlimited token stored JSON's null in place of no limits.
update api_tokens set limits = null where limits = 'null';
