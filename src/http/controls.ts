/** Whether a text has control characters, NUL among them, which PostgreSQL does not store and no name has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const hasControls = (text: string) => /[\0-\x1f\x7f]/.test(text)
