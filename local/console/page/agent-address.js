/** `/t/<tenant>/a/<type>/<id>` as the catalog has it, and `#/<type>/<id>` as this page's address. */
export function agentOfUrl(url) {
  const [, , , , type, id] = url.split('/');
  return { type, id };
}

export function agentOfHash(hash) {
  const [root, type, id, ...rest] = hash.split('/');
  const isAgent = root === '#' && type && id && rest.length === 0;
  // The names as the gateway takes them: all else is not an agent's address.
  return isAgent && /^[A-Za-z][\w.-]*$/.test(type) && /^[A-Za-z0-9][\w.~:@-]*$/.test(id)
    ? { type, id }
    : undefined;
}

export function hashOf({ type, id }) {
  return `#/${type}/${id}`;
}
