import type { Category } from './category.ts'
import { otherCategories } from './others.ts'
import { tops } from './tops.ts'

export const categories: readonly Category[] = [...tops, ...otherCategories]
