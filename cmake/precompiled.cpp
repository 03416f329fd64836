// Compiles nothing itself: its target holds precompiled headers (Precompiled.cmake).
