/** An identifier as this system has them; others are of nothing, and may not stand in a path. */
export const isId = (id: string) => /^\d{1,22}$/.test(id)
