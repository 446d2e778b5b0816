import { inject } from 'vitest';
import { TEST_MONGO_URL } from './test-store.ts';

// A setup file of vitest: runs before each test file of the project.
process.env[TEST_MONGO_URL] = inject('mongoUrl');
