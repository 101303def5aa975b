/** Field names of request bodies that differ from the element name. */
const fieldNames: Readonly<Record<string, string>> = {
  Description: 'reason',
  Email: 'receiverEmail',
  EmailSubject: 'subject',
  OrderNumber: 'returnNumber',
  PersonalisedMessage: 'message',
  ReturnReasonNotes: 'notes',
  Stan: 'reference',
}

/** Returns the pointer of the body's field whose element a message names. If several match, returns the longest value's. Returns undefined if none matches. */
export function findPointer(message: string, body: unknown): string | undefined {
  const elements = message.match(/\b[A-Z]\w*/g) ?? []
  const names = new Set(
    elements.flatMap(name => [name.charAt(0).toLowerCase() + name.slice(1), fieldNames[name] ?? name]),
  )
  const [longest] = listStrings(body, '')
    .filter(({ pointer }) => names.has(pointer.slice(pointer.lastIndexOf('/') + 1)))
    .sort((a, b) => b.length - a.length)
  return longest?.pointer
}

function listStrings(value: unknown, pointer: string): { pointer: string; length: number }[] {
  if (typeof value === 'string') return [{ pointer, length: value.length }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => listStrings(member, `${pointer}/${name}`))
}
