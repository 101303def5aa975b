const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as HTML shows it, in an attribute too. */
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, character => entities[character] ?? character)
