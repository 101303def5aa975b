/** Throws where a service or a database cannot be called that. */
export function requireName(of: 'service' | 'database', name: string) {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Error(`The name of a ${of} has 1 to 60 letters, digits, dots, dashes or underscores.`)
}
