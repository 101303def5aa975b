/** Elements that are called something else in the bodies that callers send. */
const fieldNames: Readonly<Record<string, string>> = {
  Description: 'reason',
  Email: 'receiverEmail',
  EmailSubject: 'subject',
  OrderNumber: 'returnNumber',
  PersonalisedMessage: 'message',
  ReturnReasonNotes: 'notes',
  Stan: 'reference',
}

/** Where in a body the text is whose element is named in these words; of several, the longest. Undefined: it is none of the body's. */
export function findPointer(words: string, body: unknown): string | undefined {
  const elements = words.match(/\b[A-Z]\w*/g) ?? []
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
  return Object.entries(value).flatMap(([name, each]) => listStrings(each, `${pointer}/${name}`))
}
